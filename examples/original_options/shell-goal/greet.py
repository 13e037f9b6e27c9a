print("goodbye, world")
