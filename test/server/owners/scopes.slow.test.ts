// On PostgreSQL.
import './scopes.test';
