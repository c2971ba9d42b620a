import { Agent, setGlobalDispatcher } from 'undici';

// The tests' own requests each use a new connection: one that is kept may be closed by its service at the very moment that
// it is used again, when the machine is busy.
setGlobalDispatcher(new Agent({ pipelining: 0 }));
