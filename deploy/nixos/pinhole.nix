# A NixOS module: `imports = [ ./pinhole.nix ];` in configuration.nix. Needs beside it the unit of ../systemd, and the
# server's package from `npm run packages`, renamed to `pinhole-server.tgz`. Settings are in /etc/pinhole/pinhole.env.
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
    # The empty entry clears the unit's own ExecStart. Node 24.15 or later.
    serviceConfig.ExecStart = [ "" "${lib.getExe pkgs.nodejs_24} ${server}/bin/serve.mjs" ];
  };
}
