import { describeCrashSteps } from '../support/crash-steps.ts';

describeCrashSteps({ seeds: Array.from({ length: 20 }, (_, n) => 100 + n) });
