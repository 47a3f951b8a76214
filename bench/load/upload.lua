-- Sends prebuilt multipart bodies in turn. Called with the folder that holds them (1.body, 2.body, …), how many there
-- are, and their boundary. Each has a client address of its own, so that no quota is shared by all.
local requests = {}
local next_request = 0

function init(args)
  local folder, count, boundary = args[1], tonumber(args[2]), args[3]
  math.randomseed(os.time())
  for i = 1, count do
    local file = assert(io.open(folder .. "/" .. i .. ".body", "rb"))
    local body = file:read("*a")
    file:close()
    requests[i] = wrk.format("POST", nil, {
      ["Content-Type"] = "multipart/form-data; boundary=" .. boundary,
      ["X-Forwarded-For"] = string.format("%d.%d.%d.%d", math.random(11, 99), math.random(0, 255),
        math.random(0, 255), math.random(1, 254)),
    }, body)
  end
end

function request()
  next_request = next_request % #requests + 1
  return requests[next_request]
end
