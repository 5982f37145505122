// In syntax that an old Node parses, so that it can say why it is refused.

/**
 * Why this Node cannot run the mesh, or '' where it can. The ranges are those of `engines` in
 * package.json: ^20.19.0 || ^22.13.0 || >=24.
 * @param {string} version `process.versions.node`
 * @returns {string}
 */
export function nodeRefusal(version) {
  var parts = version.split('.').map(Number);
  var major = parts[0];
  var minor = parts[1];
  var fits = (major === 20 && minor >= 19) || (major === 22 && minor >= 13) || major >= 24;
  if (fits) return '';
  return (
    'mesh: Node ' +
    version +
    ' is not supported. Install Node 24 (or at least 22.13, or 20.19) and run the command again.'
  );
}
