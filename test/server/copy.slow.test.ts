// On PostgreSQL.
import './copy.test';
