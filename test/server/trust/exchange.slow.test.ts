// On PostgreSQL.
import './exchange.test';
