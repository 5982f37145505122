import { describeKanboardBoard } from './kanboard-board.contract.ts';

describeKanboardBoard('postgres');
