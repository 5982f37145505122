import type { Card } from './card.ts';
import type { Finding } from './card-problem.ts';
import { fault, warning } from './finding.ts';
import { thumbprint } from './public-key.ts';
import { outwardTools } from './tool-name.ts';

/** What a trust class may have (`DESIGN.md` 7): sandboxed and untrusted get no secret and send nothing out. */
export function lintTrust(card: Card): readonly Finding[] {
  const confined = card.trust === 'sandboxed' || card.trust === 'untrusted';
  return [
    ...(confined ? lintConfined(card) : lintEffects(card)),
    ...lintOwnNames(card),
    ...lintId(card),
    ...lintHuman(card),
    ...lintKey(card),
    ...lintAdmit(card),
  ];
}

function lintConfined(card: Card): readonly Finding[] {
  const { trust } = card;
  const refuse = (field: string, index: readonly number[], what: string, fix: string) =>
    fault('CONFINED', [field, ...index], `A ${trust} agent ${what}.`, fix);
  const outward = card.tools.flatMap((tool, index) => (outwardTools.includes(tool) ? [index] : []));
  const banks = card.memory?.reads.filter((bank) => bank !== 'shared') ?? [];
  return [
    ...(card.secrets.length > 0 ? [refuse('secrets', [], 'gets no secrets', 'Remove them.')] : []),
    ...outward.map((index) => refuse('tools', [index], 'sends nothing out', 'Remove this tool.')),
    ...(card.effects === undefined || card.effects === 'external'
      ? [refuse('effects', [], 'acts on nothing outside', 'Set effects: none or workspace.')]
      : []),
    ...(card.unsandboxed ? [refuse('unsandboxed', [], 'runs in its sandbox', 'Remove it.')] : []),
    ...(banks.length > 0
      ? [refuse('memory', [], 'reads at most the shared bank', 'Leave only "shared" in reads.')]
      : []),
    ...(card.verification.reviewer
      ? [refuse('verification', [], 'verifies nobody', 'Remove reviewer: true.')]
      : []),
  ];
}

function lintEffects({ effects, runtime }: Card): readonly Finding[] {
  if (effects !== undefined || (runtime !== 'model' && runtime !== 'executor')) return [];
  const message = 'A Card that says nothing counts as external: a lost run waits for a person.';
  return [
    warning('EFFECTS_EXTERNAL', ['effects'], message, 'Set effects: none, workspace, external.'),
  ];
}

/**
 * Whether the mesh itself is set up by this variable: its secret, tokens and the gateway's key are among
 * them, so no Card gets any of them.
 */
export const isMeshVariable = (name: string): boolean => name.toUpperCase().startsWith('MESH_');

function lintOwnNames(card: Card): readonly Finding[] {
  return (['env', 'secrets'] as const).flatMap((field) =>
    card[field].flatMap((name, index) => {
      if (!isMeshVariable(name)) return [];
      const message = `${name} belongs to the mesh itself; no agent gets it.`;
      const fix =
        'Remove it; a run that may call or report has MESH_URL and MESH_TASK_TOKEN anyway.';
      return [fault('MESH_VARIABLE', [field, index], message, fix)];
    }),
  );
}

/** Words that mean something else where an agent may be named: targets, admit lists, banks. */
const reserved = ['auto', 'human', 'trusted', 'sandboxed', 'untrusted', 'shared', 'mesh'];

function lintId({ id }: Card): readonly Finding[] {
  if (!reserved.includes(id)) return [];
  const message = `"${id}" has a meaning of its own in targets and lists.`;
  return [fault('RESERVED_ID', ['id'], message, 'Choose another id.')];
}

function lintHuman({ runtime, trust }: Card): readonly Finding[] {
  if ((runtime === 'human') === (trust === 'human')) return [];
  const message = `runtime ${runtime} and trust ${trust} do not go together: human means a person on both.`;
  return [fault('HUMAN_TRUST', ['trust'], message, 'Set both to human, or neither.')];
}

function lintKey({ identity }: Card): readonly Finding[] {
  if (identity === undefined || identity.kid === thumbprint(identity.x)) return [];
  const message = 'The kid is not the RFC 7638 thumbprint of this key.';
  return [
    fault('KEY_ID', ['identity', 'kid'], message, 'Take the JWK that `mesh cards key` prints.'),
  ];
}

function lintAdmit({ admit }: Card): readonly Finding[] {
  const index = admit.indexOf('untrusted');
  if (index < 0) return [];
  const message = 'Work of untrusted agents starts here without a person having seen it.';
  return [warning('ADMITS_UNTRUSTED', ['admit', index], message, 'Remove "untrusted" if unsure.')];
}
