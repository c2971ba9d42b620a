// The program as one executable; bin/pwpush.js is the one for Node.js, whose compile cache Bun does without.
'use strict';
const { crash, leave, run, systemContext } = require('../dist/start.js');

// Runs that take this long gain from machine code, which --compile-jit-policy in binary.mjs puts off.
setTimeout(() => Bun.unsafe.setJITPolicy(1), 250).unref();

process.once('uncaughtException', crash);
// Node.js makes an uncaught exception of it; Bun prints its message and the line of code.
process.once('unhandledRejection', crash);
// For a run whose event loop empties before it settles.
process.exitCode = 1;
run(process.argv.slice(2), systemContext()).then(leave, crash);
