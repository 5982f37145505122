import { describeCrashSteps } from '../support/crash-steps.ts';

describeCrashSteps({ seeds: [1, 2] });
