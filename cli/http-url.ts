import { z } from 'zod';

export const HttpUrl = z.url({
  protocol: /^https?$/,
  error: 'an address starts with http:// or https://',
});
