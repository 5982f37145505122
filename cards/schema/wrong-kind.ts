/** Words for a value of the wrong kind; a value that is missing keeps the plain "is missing". */
export function wrongKind(message: string) {
  return {
    error: ({ input }: { readonly input?: unknown }): string | undefined =>
      input === undefined ? undefined : message,
  };
}
