// On PostgreSQL.
import './plans.test';
