"""What reproduces and demonstrates: experiments, simulators, data sets, reports. The library never imports it."""
