// On PostgreSQL.
import './rotation.test';
