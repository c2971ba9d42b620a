// On PostgreSQL.
import './requests.test';
