// On PostgreSQL.
import './files.test';
