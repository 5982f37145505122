import { nothing, refuse, type ActSituation, type InboxPlan } from './act-situation.ts';
import { saidIn, type Said } from './inbox-words.ts';

/** What an act of its verifier does to a result: closing it is a yes, a no takes words. */
export function planResult({ did, lastWords }: ActSituation): InboxPlan {
  if (did.kind === 'closed') return { do: 'verify', verdict: 'verified' };
  if (did.kind === 'commented') return planVerdict(saidIn(did.text), lastWords);
  if (did.kind !== 'moved') return nothing;
  switch (did.to) {
    case 'approved':
    case 'done':
      return { do: 'verify', verdict: 'verified' };
    case 'rejected':
      return refusal(lastWords, true);
    default:
      return nothing;
  }
}

function planVerdict({ command, text }: Said, lastWords: string | undefined): InboxPlan {
  switch (command) {
    case 'approve':
      return { do: 'verify', verdict: 'verified', ...(text === '' ? {} : { note: text }) };
    case 'reject':
      return refusal(text === '' ? lastWords : text, false);
    case 'answer':
    case 'unknown':
      return refuse('Comment `/approve`, or `/reject` and what is wrong.', false);
    case undefined:
      return nothing;
  }
}

const refusal = (note: string | undefined, putBack: boolean): InboxPlan =>
  note === undefined
    ? refuse(
        'A refusal needs words: comment what is wrong with the result, then drag it to Rejected again.',
        putBack,
      )
    : { do: 'verify', verdict: 'refused', note };
