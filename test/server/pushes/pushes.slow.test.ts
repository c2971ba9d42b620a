// On PostgreSQL.
import './pushes.test';
