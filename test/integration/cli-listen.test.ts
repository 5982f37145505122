import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { listen } from '../../cli/listen.ts';

it('says of an address that is not this machine’s that the host is wrong', async () => {
  // TEST-NET-1: no machine has it.
  await expect(listen(new Hono(), '192.0.2.1', 0)).rejects.toThrow(/no such address.+--host/);
});

it('says of a port that is taken that the port is wrong', async () => {
  const first = await listen(new Hono(), '127.0.0.1', 0);
  const port = Number(new URL(first.url).port);
  await expect(listen(new Hono(), '127.0.0.1', port)).rejects.toThrow(/another with --port/);
  await first.close();
});
