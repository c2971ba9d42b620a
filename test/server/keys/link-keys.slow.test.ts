// On PostgreSQL.
import './link-keys.test';
