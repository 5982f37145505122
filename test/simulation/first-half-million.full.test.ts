import { simulateHalfAMillion } from './million.ts';

simulateHalfAMillion(1_000_000);
