# A module for NixOS: `imports = [ ./pinhole.nix ];` in configuration.nix. Beside it: the unit of ../systemd, and as
# pinhole-server.tgz what `npm run packages` makes. Settings are in /etc/pinhole/pinhole.env.
{ lib, pkgs, ... }:
let
  server = pkgs.runCommand "pinhole-server" { } "mkdir $out; tar -xzf ${./pinhole-server.tgz} -C $out --strip-components=1";
  unit = pkgs.writeTextDir "lib/systemd/system/pinhole.service" (builtins.readFile ./pinhole.service);
in
{
  users.users.pinhole = { isSystemUser = true; group = "pinhole"; };
  users.groups.pinhole = { };
  systemd.packages = [ unit ];
  systemd.services.pinhole = {
    wantedBy = [ "multi-user.target" ];
    # The empty one takes away the unit's own. Node 24.15 or later.
    serviceConfig.ExecStart = [ "" "${lib.getExe pkgs.nodejs_24} ${server}/bin/serve.mjs" ];
  };
}
