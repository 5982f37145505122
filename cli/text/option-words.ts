/** The options of the command that say what a field of the wire says. */
const options: Readonly<Record<string, string>> = {
  contextRefs: '--ref',
  deadline: '--deadline',
  notBefore: '--not-before',
  idempotencyKey: '--key',
  acceptance: '--acceptance',
  verification: '--verification',
  effects: '--effects',
  onUnavailable: '--on-unavailable',
  priority: '--priority',
  score: '--score',
  parent: '--parent',
  target: 'the target',
  'execution.model': '--model',
  'execution.effort': '--effort',
  'target.need.skill': '--skill',
  'target.need.minContextTokens': '--min-context',
  'params.target.need.skill': '--skill',
  'params.target.need.minContextTokens': '--min-context',
  'params.edit.deadlineAtMs': '--deadline',
  'params.edit.notBeforeAtMs': '--not-before',
  'params.message.contextId': '--context',
  'params.message.messageId': '--key',
  'params.message.parts': 'the text',
  'params.text': 'the text',
  'params.value': 'the answer',
  'params.note': '--note',
  'params.commit': '--commit',
  'params.reason': '--reason',
  'params.score': '--score',
  'params.target': 'the target',
  'params.taskId': 'the task',
  'params.decisionId': '--decision',
};

const extension = /^params\.message\.metadata\["[^"]*"\]\./u;
const wirePath = /\bparams(?:\.message\.metadata\["[^"]*"\])?(?:\.\w+|\[\d+\])+/gu;

/** A message of the mesh with the options of the command line in place of the fields that they fill. */
export const inOptionWords = (message: string): string => message.replace(wirePath, optionFor);

/** The option for a field, or for what it is part of; where there is none, the field. */
function optionFor(path: string): string {
  const steps = path
    .replace(extension, '')
    .replaceAll(/\[\d+\]/gu, '')
    .split('.');
  for (let length = steps.length; length > 0; length--) {
    const option = options[steps.slice(0, length).join('.')];
    if (option !== undefined) return option;
  }
  return path;
}
