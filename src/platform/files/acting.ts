// Root acts as the owner of what it changes: a link that this owner prepared then leads to nothing that the owner may
// not use, and what is created is theirs.
import { statSync } from 'node:fs';
import node from 'node:process';

/**
 * If root started the program, acts as the owner of a folder until the returned function is called, or as root again
 * without a folder. A folder that does not exist changes nothing. Threads change with the process.
 */
export function actAs(folder?: string): () => void {
  const { getuid, geteuid, getegid, getgroups } = node;
  if (getuid?.() !== 0 || !geteuid || !getegid || !getgroups) return () => {};
  const before = { uid: geteuid(), gid: getegid(), groups: getgroups() };
  // As the owner of another folder, this process may not be able to read the path.
  become(ROOT);
  if (folder !== undefined) {
    const owner = statSync(folder, { throwIfNoEntry: false });
    become(owner ? { uid: owner.uid, gid: owner.gid, groups: [owner.gid] } : before);
  }
  return () => become(before);
}

/** Root may read what it names, such as a backup, though the owner whom it acts as may not. */
export function asRoot<T>(read: () => T): T {
  const back = actAs();
  try {
    return read();
  } finally {
    back();
  }
}

interface Actor {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
}

const ROOT: Actor = { uid: 0, gid: 0, groups: [0] };

/** Only root may change the groups, so that it becomes root first. */
function become({ uid, gid, groups }: Actor): void {
  node.seteuid?.(0);
  node.setgroups?.([...groups]);
  node.setegid?.(gid);
  node.seteuid?.(uid);
}
