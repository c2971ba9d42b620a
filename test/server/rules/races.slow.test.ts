// On PostgreSQL.
import './races.test';
