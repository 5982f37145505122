/** `1 link`, `2 links`. Bots are programs of their own and import nothing of the mesh. */
export const counted = (count, noun) =>
  `${count} ${noun}${count === 1 ? '' : noun.endsWith('ch') ? 'es' : 's'}`;
