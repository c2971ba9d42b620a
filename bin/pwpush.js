#!/usr/bin/env node
'use strict';
const { keep, load, tune } = require('../dist/load.js').loaderFor(process);

const words = process.argv.slice(2);
if (words.length === 1 && (words[0] === '--version' || words[0] === '-V'))
  load('answer.js').sayVersion(process).then(process.exit, start);
else start();

function start() {
  const { crash, leave, run, systemContext } = load('start.js');
  process.once('uncaughtException', crash);
  // A run that ends without having ended, since nothing is left to wait for, is no success.
  process.exitCode = 1;
  const context = systemContext(tune);
  run(words, context).then((status) => {
    // Those that take the signals run for long, and end when they are told to.
    if (status === 0 && !context.signalsTaken) keep();
    leave(status);
  }, crash);
}
