// On PostgreSQL.
import './sql.test';
