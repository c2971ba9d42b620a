// On PostgreSQL.
import './secrets-at-rest.test';
