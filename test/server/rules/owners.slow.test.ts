// On PostgreSQL.
import './owners.test';
