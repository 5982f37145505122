// Loaded before a server that is measured: it tells what its process uses when the bench asks.
// The channel never keeps the server alive.
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMs: (user + system) / 1_000, rssMiB: process.memoryUsage.rss() / 1_048_576 });
});
// A bench that is killed must not leave its servers behind.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.channel?.unref();
