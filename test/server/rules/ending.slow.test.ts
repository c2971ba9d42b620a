// On PostgreSQL.
import './ending.test';
