#!/usr/bin/env node
'use strict';
const { keep, load, tune } = require('../dist/load.js').loaderFor(process);

const words = process.argv.slice(2);
if (words.length === 1 && (words[0] === '--version' || words[0] === '-V'))
  load('answer.js').printVersion(process).then(process.exit, start);
else start();

function start() {
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
