#!/usr/bin/env node
'use strict';
const { loaderFor, printVersion } = require('../dist/load.js');

const words = process.argv.slice(2);
const asksVersion = words.length === 1 && (words[0] === '--version' || words[0] === '-V');
if (!asksVersion || !printVersion(process)) start();

function start() {
  const { keep, load, tune } = loaderFor(process);
  const { crash, leave, run, systemContext } = load('start.js');
  process.once('uncaughtException', crash);
  // For a run whose event loop empties before it settles.
  process.exitCode = 1;
  const context = systemContext(tune, [__filename]);
  run(words, context).then((status) => {
    // Commands that take the signals run for long.
    if (status === 0 && !context.signalsTaken) keep();
    leave(status);
  }, crash);
}
