// The one program behind every npm script: it sets the clone up (install, build), then runs a verb.
// Node's version is judged first and in old syntax; the rest is loaded only when Node can parse it.
import { nodeRefusal } from './bootstrap/node-floor.mjs';

var refusal = nodeRefusal(process.versions.node);
if (refusal) {
  process.stderr.write(refusal + '\n');
  process.exitCode = 1;
} else {
  import('./bootstrap/run-verb.mjs').then(function (module) {
    return module.runVerb(process.argv.slice(2));
  });
}
