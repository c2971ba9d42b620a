# Installs pwpush @VERSION@ for this user; nothing needs an administrator. Running it again upgrades, -Uninstall removes
# what it installed. The archive is compared with the checksum below before anything is written.
#
#   powershell -ExecutionPolicy Bypass -File install.ps1 [-Folder FOLDER] [-Uninstall]
param(
  [string]$Folder = '',
  [switch]$Uninstall
)

# A scope of its own: piped to Invoke-Expression, this runs in the session of the user.
& {
  $ErrorActionPreference = 'Stop'
  # Windows PowerShell takes many times as long to download while it shows how far it is.
  $ProgressPreference = 'SilentlyContinue'
  $version = '@VERSION@'
  $base = if ($env:PWPUSH_INSTALL_URL) { $env:PWPUSH_INSTALL_URL } else { '@URL@' }
  $expected = '@SUM_WINDOWS@'
  $name = "pwpush-$version-windows-x64.zip"

  if (-not $env:LOCALAPPDATA) { throw 'this installs pwpush on Windows; elsewhere use install.sh' }
  if ($Folder -eq '') { $Folder = Join-Path $env:LOCALAPPDATA 'Programs\pwpush' }
  $Folder = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Folder)
  if ($Folder.Contains(';')) { throw 'the path of the folder must not contain ";", which separates those on the PATH' }
  $program = Join-Path $Folder 'pwpush.exe'

  # Changes the user's PATH in the registry, where it keeps its variables, and tells programs that start others.
  function Set-UserPath([scriptblock]$change) {
    $key = 'HKCU:\Environment'
    $path = (Get-Item $key).GetValue('Path', '', 'DoNotExpandEnvironmentNames')
    $parts = @($path -split ';' | Where-Object { $_ -ne '' })
    $changed = @(& $change $parts) -join ';'
    if ($changed -eq $path) { return }
    Set-ItemProperty $key Path $changed -Type ExpandString
    $none = 'pwpush-' + [guid]::NewGuid()
    [Environment]::SetEnvironmentVariable($none, '1', 'User')
    [Environment]::SetEnvironmentVariable($none, [NullString]::Value, 'User')
  }

  function Remove-Old {
    Get-ChildItem -LiteralPath $Folder -Filter 'pwpush.exe.*.old' | Remove-Item -Force -ErrorAction SilentlyContinue
  }

  if ($Uninstall) {
    if (-not (Test-Path -LiteralPath $program)) { throw "pwpush is not installed in $Folder" }
    Remove-Item -LiteralPath $program -Force
    Remove-Old
    # Only what the archive has: the folder may have other files.
    foreach ($file in 'README.md', 'CHANGELOG.md', 'LICENSE', 'THIRD-PARTY-NOTICES', 'sbom.cdx.json') {
      $path = Join-Path $Folder $file
      if (Test-Path -LiteralPath $path) { Remove-Item -LiteralPath $path -Force }
    }
    foreach ($path in (Join-Path $Folder 'man'), (Join-Path $Folder 'completions'), $Folder) {
      if (-not (Test-Path -LiteralPath $path)) { continue }
      if ($path -ne $Folder) { Get-ChildItem -LiteralPath $path -Filter 'pwpush*' | Remove-Item -Force }
      if (-not (Get-ChildItem -LiteralPath $path -Force)) { Remove-Item -LiteralPath $path -Force }
    }
    Set-UserPath { param($parts) $parts | Where-Object { $_ -ne $Folder } }
    Write-Output "removed pwpush from $Folder; profiles and saved secrets stay"
    return
  }

  # Of the machine: a process may run in emulation. Windows 11 runs programs for x64 on ARM64.
  $machine = (Get-ItemProperty 'HKLM:\SYSTEM\CurrentControlSet\Control\Session Manager\Environment').PROCESSOR_ARCHITECTURE
  $emulates = $machine -eq 'ARM64' -and [Environment]::OSVersion.Version.Build -ge 22000
  if ($machine -ne 'AMD64' -and -not $emulates) {
    throw "there is no binary for $machine; with Node.js use: npm install --global pwpush"
  }
  $taken = (Test-Path -LiteralPath $Folder) -and (Get-ChildItem -LiteralPath $Folder -Force)
  if ($taken -and -not (Test-Path -LiteralPath $program)) {
    throw "$Folder has other files; name an empty folder with -Folder"
  }

  $work = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
  New-Item -ItemType Directory $work | Out-Null
  try {
    $archive = Join-Path $work $name
    Write-Output "downloading $base/$name"
    [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
    try { Invoke-WebRequest "$base/$name" -OutFile $archive -UseBasicParsing }
    catch { throw "the download failed; nothing was installed: $_" }
    $actual = (Get-FileHash -LiteralPath $archive -Algorithm SHA256 -ErrorAction Stop).Hash.ToLowerInvariant()
    if ($actual -ne $expected) { throw "the checksum is $actual instead of $expected; nothing was installed" }
    Expand-Archive -LiteralPath $archive -DestinationPath $work -ErrorAction Stop
    $unpacked = Join-Path $work "pwpush-$version-windows-x64"
    New-Item -ItemType Directory $Folder -Force | Out-Null
    # A running program can be renamed, but not replaced.
    Move-Item -LiteralPath (Join-Path $unpacked 'pwpush.exe') "$program.new" -Force
    if (Test-Path -LiteralPath $program) {
      Move-Item -LiteralPath $program "$program.$([IO.Path]::GetRandomFileName()).old"
    }
    Move-Item -LiteralPath "$program.new" $program
    Remove-Old
    Get-ChildItem -LiteralPath $unpacked | Copy-Item -Destination $Folder -Recurse -Force
    Set-UserPath { param($parts) if ($parts -contains $Folder) { $parts } else { $parts + $Folder } }
    Write-Output "installed pwpush $version as $program"
    Write-Output 'open a new terminal to have it on the PATH; for completions add to your $PROFILE: pwpush completion powershell | Out-String | Invoke-Expression'
  } finally {
    Remove-Item -LiteralPath $work -Recurse -Force
  }
}
