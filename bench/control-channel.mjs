// Loaded before a server that is measured: it tells what its process uses when the bench asks.
// The channel never keeps the server alive.
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMs: (user + system) / 1_000, rssMiB: process.memoryUsage.rss() / 1_048_576 });
});
process.channel?.unref();
