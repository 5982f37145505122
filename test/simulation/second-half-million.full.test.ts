import { simulateHalfAMillion } from './million.ts';

simulateHalfAMillion(2_000_000);
