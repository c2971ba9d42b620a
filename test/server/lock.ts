import { createRequire } from 'node:module';

export interface Native {
  exec(sql: string): void;
  close(): void;
}

/** Takes the write lock of a SQLite file, as another program would; what it answers gives the lock back. */
export function lock(path: string): () => void {
  const database = open(path);
  database.exec('BEGIN IMMEDIATE');
  return () => {
    database.exec('ROLLBACK');
    database.close();
  };
}

export function open(path: string): Native {
  const require = createRequire(import.meta.url);
  try {
    return new (require('node:sqlite').DatabaseSync)(path);
  } catch {
    return new (require('libsql'))(path);
  }
}
