import { describeCrashSteps } from '../support/crash-steps.ts';

describeCrashSteps([1, 2]);
