// On PostgreSQL.
import './key-proofs.test';
