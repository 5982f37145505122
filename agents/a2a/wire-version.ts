import { isV1JsonRpcMethod } from '@a2a-js/sdk/compat/v0_3';
import { ProtocolError } from './protocol-error.ts';

export type WireVersion = '1.0' | '0.3';

const Version = /^(\d{1,3})\.(\d{1,3})(?:\.\d{1,3})?$/;

/**
 * Which generation a request speaks: header, else query parameter `A2A-Version`; empty or absent
 * means 0.3; patch digits never matter; a 1.0 method name without any version is a 1.0 client that
 * left it out (`reference/a2a.md` 1.2).
 * @throws ProtocolError `VERSION_NOT_SUPPORTED`
 */
export function wireVersionOf(asked: string | undefined, method: string): WireVersion {
  const text = asked?.trim() ?? '';
  if (text === '') return asked === undefined && isV1JsonRpcMethod(method) ? '1.0' : '0.3';
  const [, major, minor] = Version.exec(text) ?? [];
  if (major === '1') return '1.0';
  if (major === '0' && minor === '3') return '0.3';
  throw new ProtocolError(
    'VERSION_NOT_SUPPORTED',
    `A2A version "${text.slice(0, 32)}" is not served here. Send A2A-Version: 1.0 or 0.3.`,
    { supported: '1.0,0.3' },
  );
}
