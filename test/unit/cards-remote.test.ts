import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { judgeRemoteCard } from '../../cards/agent-card/remote-card.ts';

interface Expected {
  readonly verdict: string;
  readonly codes?: readonly string[];
  readonly warnings?: readonly string[];
}

const folder = join(import.meta.dirname, '..', 'fixtures', 'cards', 'remote');
const text = (name: string) => readFileSync(join(folder, name), 'utf8');
const expected = JSON.parse(text('expected.json')) as Readonly<Record<string, Expected | string>>;
const cases = Object.entries(expected).filter(
  (entry): entry is [string, Expected] => typeof entry[1] === 'object',
);
const judge = (card: unknown, policy: Partial<Parameters<typeof judgeRemoteCard>[1]> = {}) =>
  judgeRemoteCard(JSON.stringify(card), { labHosts: [], ...policy });

const good = JSON.parse(text('g03-valid-030-bearer-unknown-field.json')) as Record<string, unknown>;
const current = {
  ...{ name: 'N', description: 'd', version: '1' },
  supportedInterfaces: [
    { url: 'https://a.example.com/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0.1' },
  ],
  securitySchemes: { jwt: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
  securityRequirements: [{ schemes: { jwt: { list: ['x'] } } }],
};

describe('cards of the field', () => {
  it.each(cases)('judges %s as recorded', (name, { verdict, codes = [], warnings = [] }) => {
    expect(cases).toHaveLength(5);
    expect(judgeRemoteCard(text(name), { labHosts: [] })).toMatchObject({
      verdict,
      codes,
      warnings,
    });
  });

  it('speaks 0.3 to the sound one, sends its token to one origin, and keeps the unknown field', () => {
    expect(judge(good)).toMatchObject({
      wireVersion: '0.3',
      tokenOrigin: 'https://brisk-otter.tunnel.example.com',
      card: { docUrl: 'https://numbers.example.com' },
    });
    const { card } = judge(good);
    expect(judge(card).card).toEqual(good);
  });

  it('says where each fault stands', () => {
    const { faults } = judgeRemoteCard(text('g01-relative-url.json'), { labHosts: [] });
    expect(faults).toEqual([
      { code: 'interface-url-not-absolute', path: '$.supportedInterfaces[0].url' },
      { code: 'no-jsonrpc-interface', path: '$.supportedInterfaces' },
      { code: 'no-security-declared', path: '$.securitySchemes' },
    ]);
    const broken = judgeRemoteCard(text('g04-two-documents-with-comments.json'), { labHosts: [] });
    expect(broken.faults).toEqual([{ code: 'not-json', path: '$', line: 6, column: 47 }]);
  });
});

describe('addresses', () => {
  it.each([
    'http://localhost:3000',
    'https://127.1/',
    'https://0x7f000001/',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://169.254.169.254/latest',
    'https://intranet/',
    'https://db.internal./',
    'https://10.1.2.3/',
    'https://[fd00::1]/',
  ])('refuses the private %s', (url) => {
    expect(judge({ ...good, url }).codes).toContain('private-host');
  });

  it('lets a lab host be private, by name or by name and port', () => {
    const url = 'http://localhost:3000';
    expect(judge({ ...good, url }, { labHosts: ['localhost'] }).verdict).toBe('accept');
    expect(judge({ ...good, url }, { labHosts: ['localhost:3000'] }).verdict).toBe('accept');
    expect(judge({ ...good, url }, { labHosts: ['localhost:3001'] }).codes).toEqual([
      'private-host',
    ]);
  });

  it('sends no token over plain http, and takes no credential out of an address', () => {
    expect(judge({ ...good, url: 'http://a.example.com' }).codes).toEqual([
      'interface-url-not-https',
    ]);
    expect(judge({ ...good, url: 'https://u:p@a.example.com' }).codes).toEqual([
      'credentials-in-url',
    ]);
    expect(judge({ ...good, url: 'file:///etc/passwd' }).codes).toEqual([
      'interface-url-not-absolute',
    ]);
  });

  it('refuses every address off the pinned origin, in whichever field it stands', () => {
    const pinned = { pinnedOrigin: 'https://a.example.com' };
    const away = 'https://a.example.com.collector.example.net/rpc';
    const second = { url: away, protocolBinding: 'JSONRPC', protocolVersion: '0.3' };
    expect(judge(current, pinned).verdict).toBe('accept');
    for (const card of [
      { ...current, supportedInterfaces: [...current.supportedInterfaces, second] },
      { ...current, url: away },
      { ...current, url: 'https://a.example.com', additionalInterfaces: [{ url: away }] },
      { ...good, url: away },
    ])
      expect(judge(card, pinned).codes).toContain('origin-not-pinned');
  });
});

describe('versions and security', () => {
  it('reads 1.0.1 as 1.0, and prefers the first interface it can speak', () => {
    expect(judge(current)).toMatchObject({ verdict: 'accept', wireVersion: '1.0' });
    const [first] = current.supportedInterfaces;
    const later = { ...current, supportedInterfaces: [{ ...first, protocolVersion: '2.0' }] };
    expect(judge(later).codes).toEqual(['unsupported-protocol-version']);
  });

  it('never takes an empty list for permission', () => {
    expect(judge({ ...good, security: [] }).codes).toEqual(['no-security-declared']);
    expect(judge({ ...good, security: [{}] }).codes).toEqual(['no-security-declared']);
    expect(judge({ ...good, securitySchemes: {} }).codes).toEqual(['no-security-declared']);
  });

  it('needs one way in that it has the means for', () => {
    const securitySchemes = {
      bearer: { type: 'http', scheme: 'Bearer' },
      mtls: { type: 'mutualTLS' },
    };
    const verdict = (security: unknown) => judge({ ...good, securitySchemes, security }).verdict;
    expect(verdict([{ mtls: [] }, { bearer: [] }])).toBe('accept');
    expect(verdict([{ mtls: [], bearer: [] }])).toBe('reject');
    expect(verdict([{ undeclared: [] }])).toBe('reject');
  });
});
