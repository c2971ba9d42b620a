// On PostgreSQL.
import './key-faults.test';
