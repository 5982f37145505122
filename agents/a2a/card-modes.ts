import type { Message, SendMessageConfiguration } from '@a2a-js/sdk';
import { ProtocolError } from './protocol-error.ts';

/** What our Agent Cards say they take in (`defaultInputModes`). */
export const inputModes: readonly string[] = ['text/plain', 'application/json'];

/** @throws ProtocolError `CONTENT_TYPE_NOT_SUPPORTED` for a part whose type no persona reads */
export function checkInputModes({ parts }: Message): void {
  for (const [at, { content, mediaType }] of parts.entries()) {
    const type = mediaType.split(';')[0]?.trim().toLowerCase() ?? '';
    const isFile = content?.$case === 'raw' || content?.$case === 'url';
    if (inputModes.includes(type) || (type === '' && !isFile)) continue;
    const found = type === '' ? 'a file of unknown type' : type;
    throw new ProtocolError(
      'CONTENT_TYPE_NOT_SUPPORTED',
      `params.message.parts[${at}] is ${found}; this agent reads ${inputModes.join(', ')}. Put the file ` +
        'into a repository or an artifact and name it by reference (contextRefs; `mesh`: --ref).',
      { path: `params.message.parts[${at}]` },
    );
  }
}

/** @throws ProtocolError `PUSH_NOTIFICATION_NOT_SUPPORTED` */
export function checkConfiguration(configuration: SendMessageConfiguration | undefined): void {
  if (configuration?.taskPushNotificationConfig === undefined) return;
  throw new ProtocolError(
    'PUSH_NOTIFICATION_NOT_SUPPORTED',
    'Push notifications are not served. Leave the configuration out and stream the task, or read it again.',
    { path: 'params.configuration.taskPushNotificationConfig' },
  );
}
