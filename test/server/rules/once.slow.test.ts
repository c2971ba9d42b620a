// On PostgreSQL.
import './once.test';
