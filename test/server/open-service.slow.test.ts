// On PostgreSQL.
import './open-service.test';
